//@ command = "nearmiss reach nowhere --function f error_name.c"
//@ error = ["nowhere", "no given file"]
int f(int a)
{
    return a;
}
