//@ command = "nearmiss reach overflow_is_an_error.c:8 --function f --overflow error"
//@ verdict = "infeasible"
int f(int i)
{
    if (i > 10) {
        i = i + 10;
        if (i < 0)
            return -1;
    }
    return i;
}
