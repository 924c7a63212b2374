/*
 * describe.h - a diagnosis in words, for text and HTML.
 *
 * The caller determines how names, which may be any bytes, and times are written; all other text is
 * ASCII without a meaning in HTML.
 */
#ifndef DIAGNOSE_DESCRIBE_H
#define DIAGNOSE_DESCRIBE_H

#include "formats/common/out.h"
#include "formats/diagnose/diagnosis.h"

/* How many findings are shown: as text, with seven lines each and the verdict, they have less than
 * 40 lines. */
enum { FINDINGS_SHOWN = 5, DIAGNOSIS_FIGURES = 3 };

typedef struct description {
    out *out;
    const diagnosis *d;
    void (*name)(void *ctx, uint32_t name);
    void (*stack)(void *ctx, uint32_t stack);
    void (*duration)(void *ctx, int64_t ns);
    void *ctx;
} description;

/* The verdict: "goroutines wait for a lock: 78 % of the time of tasks", or "nothing stands out". */
void describe_verdict(const description *to);
/* The n-th figure that shows that nothing stands out, a sentence. */
void describe_figure(const description *to, size_t n);

/* What a finding costs: "78 % of the time of tasks, 1.234 s". Nothing if describe_has_cost is
 * false.
 */
void describe_cost(const description *to, const finding *f);
bool describe_has_cost(const finding *f);

/* What is known of a finding: the evidence in a phrase, and what has a label. */
typedef enum finding_fact {
    FACT_EVIDENCE,
    FACT_HOLDER,  /* of a lock: what it does meanwhile, a stack */
    FACT_STACK,   /* where it happens */
    FACT_CYCLE,   /* of a deadlock: where each goroutine waits */
    FACT_LONGEST, /* how long, when, and which goroutine */
    FACT_COUNT
} finding_fact;
extern const char *const fact_labels[FACT_COUNT]; /* NULL: none */
bool describe_has(const finding *f, finding_fact fact);
void describe_fact(const description *to, const finding *f, finding_fact fact);

/* What the holder of a lock does meanwhile, or what is waited for: "network", ... */
const char *describe_activity(uint8_t kind);

/* The command that shows more of it, to be freed; *failed: memory was refused. NULL: there is none.
 * file: a name, which becomes a word for the shell. */
char *describe_command(const diagnosis *d, const stacks *names, const finding *f, const char *file,
                       bool *failed);

#endif
