/* bundle.h -- the viewer's code, as the build put it into the program. */
#ifndef REPORT_WEB_BUNDLE_H
#define REPORT_WEB_BUNDLE_H

#include "report/doc.h"

/* NULL: built without it. */
const struct report_bundled *web_bundle(void);

#endif
