/* style.c -- chooses how charts are drawn on the terminal that the output goes to.
 *
 * The width comes from the terminal, colours from NO_COLOR, the character set from the locale.
 */
#include "cli/style.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct report_text_style cli_style(FILE *out, bool ascii)
{
    struct report_text_style style = {.ascii = ascii};
    struct winsize size;

    if (setlocale(LC_CTYPE, "") && strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        style.ascii = true;
    if (!out || !isatty(fileno(out)))
        return style;
    style.colour = !getenv("NO_COLOR");
    if (!ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col)
        style.width = size.ws_col > 120 ? 120 : size.ws_col;
    return style;
}
