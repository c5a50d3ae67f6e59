/** Tests of the picker's report. */
@NullMarked
package io.fairlead.crds.report;

import org.jspecify.annotations.NullMarked;
