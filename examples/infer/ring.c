/* A ring buffer: `count` bytes from `head` on, around the end of `data`. */
struct ring {
    unsigned char *data;
    unsigned head, count, size;
};

int ring_push(struct ring *r, unsigned char byte)
{
    if (r->count == r->size)
        return 0;
    r->data[(r->head + r->count) % r->size] = byte;
    r->count++;
    return 1;
}
