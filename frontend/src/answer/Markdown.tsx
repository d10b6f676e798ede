/**
 * Markdown to elements. No HTML of the text's own is ever made, links are shown as text, images are left out:
 * what a model writes is data.
 */
import { useMemo } from "react";
import ReactMarkdown, { type Components, type Options } from "react-markdown";
import remarkGfm from "remark-gfm";
import css from "./AnswerText.module.css";
import { markNumbers } from "./markNumbers";
import { namesWithDigits } from "./trace";
import { TracedNumber, type Tracing, TracingContext } from "./TracedNumber";

interface Props extends Tracing {
  text: string;
}

const REMARK = [remarkGfm];

const COMPONENTS: Components = {
  img: ({ alt }) => <span>{alt}</span>,
  // the address can be read and copied, but not clicked: a value in a row may have made the model write it
  a: ({ href, children }) => (
    <span>
      {children}
      {href && href !== String(children) ? ` (${href})` : null}
    </span>
  ),
  table: ({ children }) => (
    // a wide table scrolls by itself, also with the keyboard
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={css["scroll"]} tabIndex={0} role="group" aria-label="Table in the answer">
      <table>{children}</table>
    </div>
  ),
  data: ({ children }) => <TracedNumber text={String(children)} />,
};

export default function Markdown({ text, results, question, onTrace }: Props) {
  const tracing = useMemo(() => ({ results, question, onTrace }), [results, question, onTrace]);
  // nothing is traced while the answer is being written
  const rehype = useMemo(
    (): Options["rehypePlugins"] => (results.length > 0 ? [[markNumbers, namesWithDigits(results)]] : []),
    [results],
  );
  return (
    <TracingContext value={tracing}>
      <ReactMarkdown
        remarkPlugins={REMARK}
        rehypePlugins={rehype}
        components={COMPONENTS}
        skipHtml
        urlTransform={(url) => (/^https?:\/\//i.test(url) ? url : "")}
      >
        {text}
      </ReactMarkdown>
    </TracingContext>
  );
}
