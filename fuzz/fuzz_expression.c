/*
 * fuzz_expression.c - any text is an expression or an error at a place in it, and the queries of an
 * expression can be tested with any verdicts.
 */
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "formats/analyse/expression.h"

static verdict any_verdict(void *ctx, const expression_op *op)
{
    REQUIRE(op->code != OP_NOT && op->code != OP_AND && op->code != OP_OR);
    return (verdict)(fuzz_random(ctx) % (VERDICT_UNKNOWN + 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    expression x;
    expression_error error = {0};
    uint64_t state = fuzz_seed(data, size);
    char *text = malloc(size + 1);
    REQUIRE(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    if (expression_parse(&x, text, &error)) {
        REQUIRE(x.query_count > 0 && x.query_count <= EXPRESSION_DURINGS + 1);
        REQUIRE(x.term_count <= EXPRESSION_TESTS && x.pattern_count <= EXPRESSION_PATTERNS);
        for (size_t i = 0; i < x.query_count; i++) {
            REQUIRE(x.queries[i].kinds != 0);
            REQUIRE(expression_test(&x.queries[i], any_verdict, &state) <= VERDICT_UNKNOWN);
        }
    } else {
        REQUIRE(error.at <= strlen(text) && error.message[0] != '\0');
    }
    expression_free(&x);
    free(text);
    return 0;
}
