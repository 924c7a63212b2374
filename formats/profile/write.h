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
/* In a series, the profile is kept: the last call is profile_convert_end, which writes it. divide:
 * the samples of each trace remain apart. */
gotrace_status profile_convert(const convert_job *job, stacks_detail detail, unsigned without,
                               bool divide,
                               void (*write)(const convert_job *job, const profile *p));
void profile_convert_end(const convert_job *job,
                         void (*write)(const convert_job *job, const profile *p));

#endif
