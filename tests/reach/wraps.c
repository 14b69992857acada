//@ command = "nearmiss reach wraps.c:9 --function f"
//@ verdict = "reached"
//@ runs = 3
int f(int i)
{
    if (i > 10) {
        i = i + 10;
        if (i < 0)
            return -1;
    }
    return i;
}
