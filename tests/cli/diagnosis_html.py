"""Compares the diagnosis at the beginning of HTML reports with what gotrace diagnose prints.

    diagnosis_html.py GOTRACE TRACE...

Prints what differs, and at the end how many findings were compared: the verdict, the id, the evidence, the innermost frames of
stacks and the command of each.
"""
import html.parser
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout


class Diagnosis(html.parser.HTMLParser):
    """The texts of the first section, each after the name of its element."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.sections, self.texts, self.within = 0, [], False

    def handle_starttag(self, tag, attributes):
        if tag == 'section':
            self.sections += 1
            self.within = self.sections == 1 and dict(attributes).get('id') == 'diagnosis'
        if self.within and tag == 'br':
            self.texts[-1][1] += ' < '
        elif self.within:
            self.texts.append([tag, ''])

    def handle_endtag(self, tag):
        self.within &= tag != 'section'
        if tag == 'code' and self.within:
            self.texts.append(['', ''])

    def handle_data(self, data):
        if self.within and self.texts:
            self.texts[-1][1] += data.strip('\n')


def of_report(text):
    page = Diagnosis()
    page.feed(text)
    before = label = ''
    for tag, text in page.texts:
        if tag == 'dt':
            label = text
        elif tag == 'dd' and label != 'the longest':
            yield f'{label}: ' + ' < '.join(text.split(' < ')[:3])
        elif tag == 'code':
            yield ('next: ' if before == 'p' else '') + text
        elif tag in ('p', 'li') and text and text != 'Next: ':
            yield text
        before = tag


def of_text(text):
    for i, line in enumerate(text.splitlines()):
        if i == 0:
            yield line.split(': ', 1)[1]
        elif re.match(r'\d\. ', line):
            yield line.split(' ')[1][:-1]
        elif line and not line.startswith('   the longest: '):
            # A report has no fraction of what has none.
            yield re.sub(r' < \.\.\.$', '', line[3:]).replace('.000 ms', ' ms')


def main(gotrace, traces):
    findings = 0
    for trace in traces:
        want = list(of_text(run(gotrace, 'diagnose', '-q', trace)))
        page = list(of_report(run(gotrace, 'convert', '-q', '--to', 'html', trace)))
        # A report has the name of the file alone.
        want = [line.replace(trace, trace.rsplit('/', 1)[-1]) if line.startswith('next') else line for line in want]
        if want != page:
            print(trace, *(f'  - {line}' for line in want), *(f'  + {line}' for line in page), sep='\n')
        findings += sum(line.startswith('next: ') for line in page)
    print(f'{findings} findings in {len(traces)} reports')


main(sys.argv[1], sys.argv[2:])
