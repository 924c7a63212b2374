/* names.c - the names and stacks that other answers have as numbers. */
#include "formats/view/api/answer.h"

enum { NAMES_MOST = 1000 /* of a question */ };

void answer_names(answer *q)
{
    uint64_t ids[NAMES_MOST];
    view *v = q->api->index;
    arguments_need(&q->arguments, "ids");
    const size_t count = arguments_numbers(&q->arguments, "ids", UINT32_MAX, ids, NAMES_MOST);
    if (!answer_can(q))
        return;
    out_char(q->out, '[');
    view_lock(v);
    for (size_t n = 0; n < count; n++) {
        if (!names_have(view_names(v), ids[n])) {
            answer_not_found(q, "ids: there is no name of one of these numbers");
            break;
        }
        out_str(q->out, n ? "," : "");
        put_name(q->out, view_names(v), (uint32_t)ids[n]);
    }
    view_unlock(v);
    out_char(q->out, ']');
}

void answer_stack(answer *q)
{
    uint64_t id = 0;
    view *v = q->api->index;
    arguments_need(&q->arguments, "id");
    arguments_number(&q->arguments, "id", 0, UINT32_MAX, &id);
    if (!answer_can(q))
        return;
    view_lock(v);
    if (names_have_stack(view_names(v), id))
        put_frames(q->out, view_names(v), (uint32_t)id);
    else
        answer_not_found(q, "id: there is no stack of that number");
    view_unlock(v);
}
