// A failing program fails.
int main(void)
{
    return 3;
}
