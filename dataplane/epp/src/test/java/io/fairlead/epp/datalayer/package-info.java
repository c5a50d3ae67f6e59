/** Tests of discovery and scraping. */
@NullMarked
package io.fairlead.epp.datalayer;

import org.jspecify.annotations.NullMarked;
