import './site.css';

// The program of the page for people: it fills what the compiled index leaves open. Without it the page still says
// everything that is needed to buy.

document.documentElement.dataset.program = 'on';
