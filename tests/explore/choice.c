//@ command = "nearmiss explore choice.c --function larger_is"
//@ paths = 8
// clang makes no branches of choices whose values are at hand, nor of the last part of `&&`; to the reader
// they are ways.
static int is_small(int x)
{
    return x >= -9 && x <= 9;
}

int larger_is(int x, int y, int limit)
{
    int larger = x > y ? x : y;
    return larger == limit ? 2 : is_small(larger);
}
