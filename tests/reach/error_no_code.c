//@ command = "nearmiss reach error_no_code.c:6 --function f"
//@ error = ["error_no_code.c:6", "no code"]
int f(int a)
{
#if 0
    a = 3;
#endif
    return a;
}
