/** Tests of what the picker says about itself. */
@NullMarked
package io.fairlead.epp.status;

import org.jspecify.annotations.NullMarked;
