import { readCitations } from './citations.js';
import { doneIssues, readRequirements } from './requirements.js';

/** Prints every requirement: its id, its sentence, and the tests that prove it. */
const citations = readCitations();
for (const { id, says, issue } of readRequirements()) {
  const proving = citations.filter((citation) => citation.id === id);
  const state = proving.length > 0 || doneIssues.includes(issue) ? '' : ' (later)';
  console.log(`${id}${state}: ${says}`);
  for (const { file, title } of proving) console.log(`    ${file}: ${title}`);
}
