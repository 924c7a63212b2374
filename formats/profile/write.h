/* write.h - the formats of profiles. */
#ifndef PROFILE_WRITE_H
#define PROFILE_WRITE_H

#include "formats/analyse/profile.h"
#include "formats/formats.h"

/* Makes the profile of the job and writes it with that function, which may mark the output as
 * failed. Implements format.run. */
gotrace_status profile_convert(const convert_job *job,
                               void (*write)(const convert_job *job, const profile *p));

#endif
