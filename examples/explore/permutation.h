// The order of a permutation: how often it must be applied until everything is where it was. It is the
// least common multiple of the lengths of its cycles.

static int greatest_common_divisor(int a, int b)
{
    while (b != 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int permutation_order(const int *p, int n)
{
    int order = 1;
    for (int i = 0; i < n; i++) {
        int length = 1;
        for (int j = p[i]; j != i; j = p[j])
            length++;
        order = order / greatest_common_divisor(order, length) * length;
    }
    return order;
}

// Where `start` is after `times` applications.
static int applied(const int *p, int start, int times)
{
    for (; times > 0; times--)
        start = p[start];
    return start;
}

// The result does it, and nothing less does.
int check_permutation_order(const int *p, int n, int result)
{
    for (int times = 1; times <= result; times++) {
        int moved = 0;
        for (int i = 0; i < n; i++)
            moved |= applied(p, i, times) != i;
        if (moved == (times == result))
            return 0;
    }
    return 1;
}
