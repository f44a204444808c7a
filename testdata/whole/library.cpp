// What the C++ library's most used parts do: containers, strings, streams, exceptions, a regular expression.

#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

int main() {
    std::map<std::string, int> sums;
    for (int i = 0; i < 3000; i++)
        sums["k" + std::to_string(i * 7919 % 997)] += i;
    std::vector<std::pair<int, std::string>> sorted;
    for (const auto &[name, sum] : sums)
        sorted.emplace_back(sum, name);
    std::sort(sorted.begin(), sorted.end());
    const std::regex sevens("k(7+)");
    int matches = 0;
    for (const auto &[sum, name] : sorted)
        matches += std::regex_match(name, sevens);
    int caught = 0;
    for (int i = 0; i < 50; i++) {
        try {
            if (i % 3 == 0)
                throw std::runtime_error("thrown");
        } catch (const std::exception &) {
            caught++;
        }
    }
    std::ostringstream text;
    text << sorted[5].second << ' ' << matches << ' ' << caught << ' ' << 1.5 / 7;
    std::cout << text.str() << '\n';
    return 0;
}
