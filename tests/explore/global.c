//@ command = "nearmiss explore global.c --function above --global limit,table"
//@ paths = 4
// Named variables are inputs too, static ones as well; others keep their values.
static int limit;
int table[2];
static int calls = 7;

int above(void)
{
    int found = 0;
    if (table[0] > limit)
        found++;
    if (table[1] > limit)
        found++;
    if (++calls != 8)
        return -1;
    return found;
}
