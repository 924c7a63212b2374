/* several.c - the questions about several traces that are shown together. */
#include "formats/view/api/answer.h"

void answer_traces(answer *q)
{
    const view_api *a = q->api;
    out *o = q->out;
    if (!answer_can(q))
        return;
    out_str(o, "{\"files\":[");
    for (size_t n = 0; n < a->count; n++) {
        out_str(o, n ? "," : "");
        put_text(o, a->traces[n]->file);
    }
    out_printf(o, "],\"compared\":%s}", a->compared ? "true" : "false");
}

void answer_diff(answer *q)
{
    view_api *a = q->api;
    if (!answer_can(q))
        return;
    pthread_mutex_lock(&a->lock);
    view_write_diff *write = a->write_diff;
    const void *diff = a->diff;
    const bool ended = a->ended;
    pthread_mutex_unlock(&a->lock);
    if (write) {
        q->failed |= !write(diff, q->out);
        return;
    }
    /* The failure does not change once it has ended. */
    out_str(q->out, "{\"ready\":false,\"failed\":");
    put_text(q->out, ended ? a->failure : NULL);
    out_str(q->out, "}\n");
}
