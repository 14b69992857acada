// Sections.
// options: -ffunction-sections -Wl,--gc-sections
int main(void)
{
    return 0;
}
