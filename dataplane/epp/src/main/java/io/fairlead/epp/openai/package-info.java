/** The OpenAI API on the wire: what a request asks, what a response tells, how an error looks. */
@NullMarked
package io.fairlead.epp.openai;

import org.jspecify.annotations.NullMarked;
