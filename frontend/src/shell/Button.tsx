/** The page's one button, plain, framed or filled; and its small square sister with a sign only. */
import type { ButtonHTMLAttributes } from "react";
import css from "./Button.module.css";
import { Icon, type IconName } from "./Icon";

interface Props extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "plain" | "framed" | "filled";
  icon?: IconName;
  /** On a narrow screen only the sign is shown. */
  compact?: boolean;
}

export function Button({ look = "plain", icon, compact = false, children, className = "", ...rest }: Props) {
  return (
    <button type="button" {...rest} className={`${css["button"]} ${css[look]} ${className}`}>
      {icon && <Icon name={icon} />}
      {compact ? <span className={css["compact"]}>{children}</span> : children}
    </button>
  );
}

interface IconButtonProps extends Omit<Props, "children"> {
  icon: IconName;
  label: string;
}

export function IconButton({ icon, label, look = "plain", className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`${css["button"]} ${css["square"]} ${css[look]} ${className}`}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </button>
  );
}
