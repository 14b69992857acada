//@ command = "nearmiss reach error_macro.c:4 --function f"
//@ error = ["error_macro.c:4", "macro"]
#define TWICE(x) \
    ((x) + (x))

int f(int a)
{
    return TWICE(a);
}
