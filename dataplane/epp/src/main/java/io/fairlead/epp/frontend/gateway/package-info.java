/** The HTTP gateway: takes a request, asks the pool where to, and proxies it in one hop. */
@NullMarked
package io.fairlead.epp.frontend.gateway;

import org.jspecify.annotations.NullMarked;
