# outline.py FILE...: check HTML reports and print their outlines, of several after a line with the name. It may have only the elements and attributes
# that gotrace writes, so that text of a trace that became markup is found; the hashes of the
# Content-Security-Policy are those of the style sheet and the script, and of those of the timeline, whose
# page is constant; the frames of each flame graph fit, and the data of the timeline is complete.
import base64
import hashlib
import html.parser
import json
import re
import sys
import zlib

ALLOWED = {
    'a', 'b', 'body', 'br', 'caption', 'circle', 'code', 'dd', 'details', 'div', 'dl', 'dt', 'figcaption', 'figure',
    'h1', 'h2', 'h3', 'head', 'header', 'html', 'li', 'main', 'meta', 'nav', 'noscript', 'ol', 'p', 'path', 'pre', 'rect',
    'script', 'section', 'span', 'style', 'summary', 'svg', 'table', 'tbody', 'td', 'text', 'th', 'thead', 'title',
    'tr', 'ul',
}
ATTRIBUTES = {
    'aria-hidden', 'aria-label', 'charset', 'class', 'content', 'cx', 'cy', 'd', 'data-file', 'data-kind', 'data-v',
    'height', 'href', 'http-equiv', 'id', 'lang', 'name', 'open', 'preserveaspectratio', 'r', 'role', 'scope',
    'tabindex', 'text-anchor', 'type', 'viewbox', 'width', 'x', 'y',
}
VOID = {'br', 'meta'}
# Elements whose end HTML lets one omit, and what ends them.
OPTIONAL = {
    'td': {'td', 'th', 'tr', 'tbody'}, 'th': {'td', 'th', 'tr', 'thead'}, 'li': {'li', 'ol', 'ul'},
    'dt': {'dd', 'dt', 'div'}, 'dd': {'dd', 'dt', 'div'},
}


class Report(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.outline, self.scripts, self.styles = [], [], [], [], []
        self.policy = self.data = None
        self.rows = self.cells = self.columns = self.timeline = 0

    def wrong(self, what):
        print(f'line {self.getpos()[0]}: {what}')

    # Each row has as many cells as the first one, which has the headings.
    def end_row(self):
        if self.cells and self.columns and self.cells != self.columns:
            self.wrong(f'a row of {self.cells} cells in a table of {self.columns} columns')
        self.columns = self.columns or self.cells
        self.cells = 0

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if tag not in ALLOWED or not set(names) <= ATTRIBUTES or len(names) != len(attributes):
            self.wrong(f'<{tag} {attributes}>')
        if not names.get('href', '#').startswith('#'):
            self.wrong(f'a link to {names["href"]}')
        while self.open and tag in OPTIONAL.get(self.open[-1], ()):
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)
        if names.get('http-equiv') == 'Content-Security-Policy':
            self.policy = names['content']
        if tag == 'section':
            self.outline.append(names['id'])
        if 'id' in names:
            self.ids.append(names['id'])
        if tag == 'tr':
            self.end_row()
            self.rows += 1
        self.cells += tag in ('td', 'th')
        if tag in ('table', 'details', 'rect'):
            self.rows = 0 if tag == 'table' else self.rows
        if tag == 'table':
            self.cells = self.columns = 0
        if tag == 'svg' and names.get('role') == 'img':
            self.outline.append(f'  chart: {names["aria-label"]}')
        if tag == 'div' and names.get('class') == 'flame':
            self.outline.append(f'  flame graph {names["data-kind"]}')
        if tag == 'script':
            self.data = names.get('type') if names.get('type') != 'module' else None

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and tag in OPTIONAL.get(self.open[-1], ()):
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.wrong(f'</{tag}>')
        if tag == 'table':
            self.end_row()
            self.outline.append(f'  table: {self.caption}, {self.rows - 1} rows')

    def handle_data(self, data):
        inside = self.open[-1] if self.open else None
        if inside == 'caption':
            self.caption = data
        elif inside == 'style':
            self.styles.append(data)
        elif inside == 'script':
            if self.data == 'application/json':
                check_flames(self, data)
            elif self.data:
                check_timeline(self, data)
            else:
                self.scripts.append(data)
        elif inside == 'td' and re.match(r'nan|-?inf', data):
            self.wrong(data)

    def handle_comment(self, data):
        self.wrong(f'a comment: {data}')


# Frames come after those that they call, and are at least as long as these together.
def check_flames(report, text):
    if '<' in text:
        report.wrong('< in the data')
    data = json.loads(text)
    names = len(data['names'])
    for profile in data['profiles']:
        frames, sums = profile['frames'], {}
        for at in range(0, len(frames), 3):
            level, name, ns = frames[at:at + 3]
            if not -names <= name < names or sums.pop(level + 1, 0) > ns:
                report.wrong(f'{profile["kind"]}: frame {at // 3}')
            sums[level] = sums.get(level, 0) + ns
        if set(sums) - {0} or sums.get(0, 0) > profile['total']:
            report.wrong(f'{profile["kind"]}: the sum is {sums} instead of {profile["total"]}')
        if profile['omitted'] == 0 and sums[0] != profile['total']:
            report.wrong(f'{profile["kind"]}: nothing is omitted, but the sum is {sums}')


# Names and values after their sizes.
def check_timeline(report, text):
    data = base64.b64decode(text, validate=True)
    data, at, entries = zlib.decompress(data), 0, []
    while at < len(data):
        size = shift = 0
        while True:
            size |= (data[at] & 0x7f) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                break
        entries.append(data[at:at + size])
        at += size
    names = entries[::2]
    report.timeline = len(text)
    if len(text) > 3 << 20 or at != len(data) or len(entries) % 2 or len(set(names)) != len(names):
        report.wrong(f'{len(text)} bytes of the timeline, {len(entries)} entries, {at} of {len(data)}')
    for name, value in zip(names, entries[1::2]):
        if not re.match(rb'[0-9]', name):
            json.loads(value)
    for needed in b'trace', b'findings':
        if needed not in names:
            report.wrong(f'the timeline has no {needed}')


TIMELINE = re.compile(r'<template id="timeline-page"><style>(.*?)</style>.*?<script type="module">(.*?)</script></template>', re.S)


def hashes_of(parts):
    digests = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts]
    return ' '.join(f"'sha256-{digest}'" for digest in digests)


def outline(path):
    with open(path, 'rb') as file:
        content = file.read()
    report = Report()
    text = content.decode()
    report.feed(TIMELINE.sub('', text, count=1))
    report.close()
    for style, script in TIMELINE.findall(text):
        report.styles.append(style)
        report.scripts.append(script)
    if report.open:
        print('not closed:', report.open)
    if len(content) > 3000000 + report.timeline:
        print('too large:', len(content))
    if len(set(report.ids)) != len(report.ids):
        print('an id occurs twice')
    policy = (f"default-src 'none'; style-src {hashes_of(report.styles)}; script-src {hashes_of(report.scripts)}; "
              "base-uri 'none'; form-action 'none'")
    if report.policy != policy:
        print(f'the policy is {report.policy}, not {policy}')
    if len(report.scripts) != 1 + ('id="timeline-data"' in text):
        print(f'{len(report.scripts)} scripts')
    print('\n'.join(report.outline))


for path in sys.argv[1:]:
    if len(sys.argv) > 2:
        print(f'== {path}')
    outline(path)
