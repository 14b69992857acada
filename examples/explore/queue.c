//@ command = """nearmiss explore queue.c --function queue_remove --pre queue_remove_pre --oracle check_queue_remove \
//@   --size queue=1 --range queue->head=0..5 --range queue->count=0..5 --range queue->items=0..1 --range value=0..1"""
//@ large = "--range queue->head=0..100 --range queue->count=0..100 --range queue->items=-1000..1000 --range value=-1000..1000"
//@ require = ["queue->head < 4", "queue->count <= 4"]
#include <stdbool.h>

#define CAPACITY 4

// A ring: the oldest element is at `head`, the next ones behind it, beyond the end from the front on.
struct queue {
    int items[CAPACITY];
    unsigned head, count;
};

static int *item(struct queue *queue, unsigned place)
{
    return &queue->items[(queue->head + place) % CAPACITY];
}

// Removes every element of this value; how many there were.
unsigned queue_remove(struct queue *queue, int value)
{
    unsigned kept = 0;
    for (unsigned place = 0; place < queue->count; place++) {
        if (*item(queue, place) != value) {
            *item(queue, kept) = *item(queue, place);
            kept++;
        }
    }
    unsigned removed = queue->count - kept;
    queue->count = kept;
    return removed;
}

bool queue_remove_pre(const struct queue *queue, int value)
{
    (void)value;
    return queue->head < CAPACITY && queue->count <= CAPACITY;
}

// What is left are the others, in their order.
bool check_queue_remove(const struct queue *queue, int value, unsigned result, const struct queue *old_queue)
{
    unsigned seen = 0;
    for (unsigned i = 0; i < old_queue->count; i++) {
        int old = old_queue->items[(old_queue->head + i) % CAPACITY];
        if (old == value)
            continue;
        if (seen >= queue->count || queue->items[(queue->head + seen) % CAPACITY] != old)
            return false;
        seen++;
    }
    return seen == queue->count && seen + result == old_queue->count;
}
