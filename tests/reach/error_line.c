//@ command = "nearmiss reach error_line.c:99 --function f"
//@ error = ["error_line.c:99", "lines"]
int f(int a)
{
    return a;
}
