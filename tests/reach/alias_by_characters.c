//@ command = "nearmiss reach alias_by_characters.c:8 --function f"
//@ verdict = "infeasible"
//@ assumed = "`n` never points into what `s` points to"
int f(char *s, int *n)
{
    *n = 0; s[0] = 7;
    if (*n == 7)
        return 1;
    return 0;
}
