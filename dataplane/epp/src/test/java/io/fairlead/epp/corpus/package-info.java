/** Requests and answers, kept as data, that each frontend must carry unharmed. */
@NullMarked
package io.fairlead.epp.corpus;

import org.jspecify.annotations.NullMarked;
