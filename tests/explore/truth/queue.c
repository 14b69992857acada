#include "driver.h"
#include <queue.c>

void once(void)
{
    struct queue queue;
    CHOOSE_ALL(queue.items, CAPACITY, 0, 1);
    queue.head = choose(0, 5);
    queue.count = choose(0, 5);
    int value = choose(0, 1);
    if (!queue_remove_pre(&queue, value))
        return;
    begin();
    queue_remove(&queue, value);
    end();
}
