// A C++ program: in a static one libstdc++ is captured, too.
#include <fstream>
#include <iostream>
#include <string>

int main()
{
    std::ifstream file("in");
    std::string line;
    std::getline(file, line);
    std::cout << line << '\n';
    while (std::getline(std::cin, line))
        std::cout << line << '\n';
}
