// Setlocale and mbrtowc.
#include <locale.h>
#include <string.h>
#include <wchar.h>
int main(void)
{
    mbstate_t s;
    wchar_t c = 0;
    memset(&s, 0, sizeof s);
    setlocale(LC_ALL, "C");
    return mbrtowc(&c, "a", 1, &s) != 1 || c != 'a';
}
