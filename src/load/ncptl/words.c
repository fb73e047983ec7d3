/* words.c -- the 199 keywords of the language; none of them can be a variable. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "lex_priv.h"

/* Sorted, so that a word is found by halving; a test walks it. */
static const struct {
    const char *word;
    enum nc_kw kw;
} words[] = {
    /* clang-format off */
    {"a", NK_AN}, {"abs", NK_ABS}, {"absolute", NK_ABSOLUTE}, {"aggregates", NK_AGGREGATES},
    {"aligned", NK_ALIGNED}, {"all", NK_ALL}, {"an", NK_AN}, {"and", NK_AND}, {"are", NK_ARE},
    {"arithmetic", NK_ARITHMETIC}, {"as", NK_AS}, {"assert", NK_ASSERT},
    {"assigned", NK_ASSIGNED}, {"asynchronously", NK_ASYNCHRONOUSLY}, {"await", NK_AWAITS},
    {"awaits", NK_AWAITS}, {"backend", NK_BACKEND}, {"be", NK_BE}, {"bit", NK_BITS},
    {"bits", NK_BITS}, {"buffer", NK_BUFFERS}, {"buffers", NK_BUFFERS}, {"but", NK_BUT},
    {"byte", NK_BYTES}, {"bytes", NK_BYTES}, {"cbrt", NK_CBRT}, {"ceiling", NK_CEILING},
    {"comes", NK_COMES}, {"completion", NK_COMPLETIONS}, {"completions", NK_COMPLETIONS},
    {"compute", NK_COMPUTES}, {"computes", NK_COMPUTES}, {"counters", NK_COUNTERS},
    {"current", NK_CURRENT}, {"data", NK_DATA}, {"day", NK_DAYS}, {"days", NK_DAYS},
    {"declares", NK_DECLARES}, {"default", NK_DEFAULT}, {"deviation", NK_DEVIATION},
    {"divides", NK_DIVIDES}, {"doubleword", NK_DOUBLEWORDS}, {"doublewords", NK_DOUBLEWORDS},
    {"each", NK_EACH}, {"even", NK_EVEN}, {"execute", NK_EXECUTES}, {"executes", NK_EXECUTES},
    {"factor10", NK_FACTOR10}, {"file_data", NK_FILE_DATA}, {"final", NK_FINAL},
    {"floor", NK_FLOOR}, {"for", NK_FOR}, {"from", NK_FROM}, {"geometric", NK_GEOMETRIC},
    {"gigabyte", NK_GIGABYTE}, {"greater", NK_GREATER}, {"group", NK_GROUP},
    {"halfword", NK_HALFWORDS}, {"halfwords", NK_HALFWORDS}, {"harmonic", NK_HARMONIC},
    {"histogram", NK_HISTOGRAM}, {"hour", NK_HOURS}, {"hours", NK_HOURS}, {"if", NK_IF},
    {"in", NK_IN}, {"integer", NK_INTEGERS}, {"integers", NK_INTEGERS}, {"into", NK_INTO},
    {"is", NK_ARE}, {"it", NK_THEM}, {"its", NK_THEIR}, {"kilobyte", NK_KILOBYTE},
    {"knomial_child", NK_KNOMIAL_CHILD}, {"knomial_children", NK_KNOMIAL_CHILDREN},
    {"knomial_parent", NK_KNOMIAL_PARENT}, {"language", NK_LANGUAGE}, {"less", NK_LESS},
    {"let", NK_LET}, {"log", NK_LOGS}, {"log10", NK_LOG10}, {"logs", NK_LOGS}, {"max", NK_MAX},
    {"maximum", NK_MAXIMUM}, {"mean", NK_MEAN}, {"median", NK_MEDIAN}, {"megabyte", NK_MEGABYTE},
    {"memory", NK_MEMORY}, {"mesh_coordinate", NK_MESH_COORDINATE},
    {"mesh_distance", NK_MESH_DISTANCE}, {"mesh_neighbor", NK_MESH_NEIGHBOR},
    {"message", NK_MESSAGES}, {"messages", NK_MESSAGES}, {"microsecond", NK_MICROSECONDS},
    {"microseconds", NK_MICROSECONDS}, {"millisecond", NK_MILLISECONDS},
    {"milliseconds", NK_MILLISECONDS}, {"min", NK_MIN}, {"minimum", NK_MINIMUM},
    {"minute", NK_MINUTES}, {"minutes", NK_MINUTES}, {"misaligned", NK_MISALIGNED},
    {"mod", NK_MOD}, {"multicast", NK_MULTICASTS}, {"multicasts", NK_MULTICASTS}, {"my", NK_MY},
    {"nonunique", NK_NONUNIQUE}, {"not", NK_NOT}, {"odd", NK_ODD}, {"of", NK_OF}, {"or", NK_OR},
    {"other", NK_OTHER}, {"otherwise", NK_OTHERWISE}, {"output", NK_OUTPUTS},
    {"outputs", NK_OUTPUTS}, {"page", NK_PAGES}, {"pages", NK_PAGES},
    {"percentile", NK_PERCENTILE}, {"plus", NK_PLUS}, {"processor", NK_PROCESSORS},
    {"processor_of", NK_PROCESSOR_OF}, {"processors", NK_PROCESSORS}, {"quadword", NK_QUADWORDS},
    {"quadwords", NK_QUADWORDS}, {"random", NK_RANDOM}, {"random_gaussian", NK_RANDOM_GAUSSIAN},
    {"random_pareto", NK_RANDOM_PARETO}, {"random_poisson", NK_RANDOM_POISSON},
    {"random_uniform", NK_RANDOM_UNIFORM}, {"real", NK_REAL}, {"receive", NK_RECEIVES},
    {"receives", NK_RECEIVES}, {"reduce", NK_REDUCES}, {"reduces", NK_REDUCES},
    {"region", NK_REGION}, {"repetition", NK_REPETITIONS}, {"repetitions", NK_REPETITIONS},
    {"require", NK_REQUIRE}, {"reset", NK_RESETS}, {"resets", NK_RESETS},
    {"restore", NK_RESTORES}, {"restores", NK_RESTORES}, {"result", NK_RESULTS},
    {"results", NK_RESULTS}, {"root", NK_ROOT}, {"round", NK_ROUND}, {"second", NK_SECONDS},
    {"seconds", NK_SECONDS}, {"send", NK_SENDS}, {"sends", NK_SENDS}, {"sized", NK_SIZED},
    {"sleep", NK_SLEEPS}, {"sleeps", NK_SLEEPS}, {"sqrt", NK_SQRT}, {"standard", NK_STANDARD},
    {"static_file_data", NK_STATIC_FILE_DATA}, {"store", NK_STORES}, {"stores", NK_STORES},
    {"stride", NK_STRIDE}, {"such", NK_SUCH}, {"sum", NK_SUM},
    {"synchronization", NK_SYNCHRONIZATION}, {"synchronize", NK_SYNCHRONIZES},
    {"synchronizes", NK_SYNCHRONIZES}, {"synchronously", NK_SYNCHRONOUSLY}, {"tag", NK_TAG},
    {"task", NK_TASKS}, {"task_of", NK_TASK_OF}, {"tasks", NK_TASKS}, {"than", NK_THAN},
    {"that", NK_THAT}, {"the", NK_THE}, {"their", NK_THEIR}, {"them", NK_THEM},
    {"then", NK_THEN}, {"time", NK_TIMES}, {"times", NK_TIMES}, {"to", NK_TO},
    {"touch", NK_TOUCHES}, {"touches", NK_TOUCHES}, {"touching", NK_TOUCHING},
    {"tree_child", NK_TREE_CHILD}, {"tree_parent", NK_TREE_PARENT}, {"unaligned", NK_UNALIGNED},
    {"unique", NK_UNIQUE}, {"unsuspecting", NK_UNSUSPECTING}, {"using", NK_USING},
    {"value", NK_VALUE}, {"variance", NK_VARIANCE}, {"verification", NK_VERIFICATION},
    {"version", NK_VERSION}, {"warmup", NK_WARMUP}, {"where", NK_WHERE}, {"while", NK_WHILE},
    {"who", NK_WHO}, {"with", NK_WITH}, {"without", NK_WITHOUT}, {"word", NK_WORDS},
    {"words", NK_WORDS}, {"xor", NK_XOR},
    /* clang-format on */
};

enum { NWORDS = sizeof words / sizeof words[0] };

static int words_compare(const char *word, size_t n, const char *with)
{
    int c = strncmp(word, with, n);

    return c ? c : with[n] ? -1 : 0;
}

enum nc_kw nc_keyword(const char *word, size_t n)
{
    size_t lo = 0, hi = NWORDS;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = words_compare(word, n, words[mid].word);

        if (!c)
            return words[mid].kw;
        if (c < 0)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NK_NONE;
}

const char *nc_keyword_text(enum nc_kw kw)
{
    const char *best = "?";

    assert(kw != NK_NONE);
    for (size_t i = 0; i < NWORDS; i++)
        if (words[i].kw == kw)
            best = words[i].word;
    return best;
}
