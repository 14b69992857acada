/* Functions that are given. */
struct operations {
    int (*next)(void *context);
    void (*done)(const char *name, int (*again)(void));
};

static int drain(const struct operations *operations, void *context, int most)
{
    int sum = 0, got;
    while (most-- > 0 && (got = operations->next(context)) >= 0)
        sum += got;
    operations->done("drain", 0);
    return sum;
}
