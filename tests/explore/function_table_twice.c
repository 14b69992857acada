//@ command = "nearmiss explore function_table_twice.c --function both --range which=0..1"
//@ paths = 3
// The second call goes where the first one went: nothing is lost there.
static int first(int value)
{
    return value & 3;
}

static int second(int value)
{
    if (value < 0)
        return 0;
    return value >> 4;
}

static int (*const table[2])(int) = {first, second};

int both(unsigned which, int value)
{
    return table[which](value) - table[which](value);
}
