/* write.h - the formats of profiles. */
#ifndef PROFILE_WRITE_H
#define PROFILE_WRITE_H

#include "formats/analyse/profile.h"
#include "formats/formats.h"
#include "formats/profile/options.h"

/* Makes the profile of the job, or has it made by that in its options, and writes it with that
 * function, which may mark the output as failed. Implements format.run. detail, without: what the
 * format does not show of a sample, so that those that look the same are one; see profile_options.
 */
gotrace_status profile_convert(const convert_job *job, stacks_detail detail, unsigned without,
                               void (*write)(const convert_job *job, const profile *p));

#endif
