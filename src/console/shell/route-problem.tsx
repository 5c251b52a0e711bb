/** The page for a route that failed while it was rendered. */
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Problem } from '../parts/problem.tsx';

/** Shows the error; trying again renders the route anew. */
export function RouteProblem({ error, reset }: ErrorComponentProps) {
  return <Problem error={error} onRetry={reset} />;
}
