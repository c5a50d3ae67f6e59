/** What an endpoint picker tells the operator about itself. */
@NullMarked
package io.fairlead.crds.report;

import org.jspecify.annotations.NullMarked;
