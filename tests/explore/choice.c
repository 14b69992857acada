//@ command = "nearmiss explore choice.c --function larger_is"
//@ paths = 4
// clang makes no branches of these choices, whose values are at hand; to the reader they are ways.
int larger_is(int x, int y, int limit)
{
    int larger = x > y ? x : y;
    return larger == limit ? 2 : 3;
}
