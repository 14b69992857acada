//@ command = "nearmiss explore function_table.c --function apply --range which=0..5"
//@ paths = 5
// What is called is part of the path, also where it decides nothing on input: one, two, and three ways in more.
static int one(int value)
{
    return value & 15;
}

static int two(int value)
{
    return value | 32;
}

static int more(int value)
{
    if (value > 20)
        return 1;
    return value < 10 ? value + 2 : 3 - value;
}

static int (*const table[4])(int) = {one, two, more, one};

int apply(unsigned which, int value)
{
    return table[which & 3](value);
}
