/** Tests of the external processing frontend. */
@NullMarked
package io.fairlead.epp.frontend.extproc;

import org.jspecify.annotations.NullMarked;
