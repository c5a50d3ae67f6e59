/**
 * What the project says of itself: a plan names what is judged by what, before it is run; results
 * are kept beside it; verdicts and the document follow from the two alone.
 */
@NullMarked
package io.fairlead.lab.evaluation;

import org.jspecify.annotations.NullMarked;
