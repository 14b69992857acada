// Visibility.
// options: -Werror
extern __attribute__((visibility("hidden"))) int hidden;
int hidden = 0;
int main(void)
{
    return hidden;
}
