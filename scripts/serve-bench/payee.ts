/** Whom both sellers are paid to. Any address will do: nothing is ever settled. */
export const PAYEE = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
