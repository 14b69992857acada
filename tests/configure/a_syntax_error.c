// A syntax error.
int main(void)
{
    return choke me;
}
