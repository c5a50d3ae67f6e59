/** How near the endpoints are to one another that serve a request together. */
@NullMarked
package io.fairlead.core.plugins.topology;

import org.jspecify.annotations.NullMarked;
