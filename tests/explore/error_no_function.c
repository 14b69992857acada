//@ command = "nearmiss explore error_no_function.c --function missing"
//@ error = ["error_no_function.c defines no function missing"]
int present(int x)
{
    return x + 1;
}
