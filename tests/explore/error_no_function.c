//@ command = "nearmiss explore error_no_function.c --function missing"
//@ error = ["missing", "present"]
int present(int x)
{
    return x + 1;
}
