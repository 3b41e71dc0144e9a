<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<title>Lazybones report</title>
<style>
body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:72em;padding:0 1em}
pre,code{font:12px/1.5 ui-monospace,monospace}
pre{background:#f5f5f5;padding:.8em;overflow-x:auto}
.held{color:#85590a}.bad{color:#b00020}.dim{color:#666}
.cards{display:flex;flex-wrap:wrap;gap:1em}
.card{border:1px solid #ccc;padding:.7em;max-width:21em;overflow-wrap:anywhere}
img{image-rendering:pixelated}svg text{font:11px ui-monospace,monospace}
td,th{padding:.1em .8em .1em 0;text-align:left}td.n{text-align:right}
</style>
</head>
<body>
<h1>program &#60;&#38;&#62;?</h1>
<p>Process 100 died of SIGSEGV: nothing is mapped at 0x1ffff8. 0x1ffff8 is 8 bytes before the beginning of buffer #1 (960 B at 0x200000), which belongs to x (#1, float32 (4, 6, 10), ready)</p>
<h2>Suspicions</h2>
<ul>
<li class="bad">the program took raw pointers of views that are not row-contiguous 105 times (LAZYBONES_STRIDED=warn tells where)</li>
<li class="bad">108 calls of the runtime failed</li>
</ul>
<h2>The thread that died</h2>
<pre>thread 100
  #0  0x000000064000 in f0
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of bool (#5, bool (16,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
  #1  0x000000064001 in f1
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of bool (#5, bool (16,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
  #2  0x000000064002 in f2
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of bool (#5, bool (16,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
  (damaged)
</pre>
<h2>Other threads</h2>
<details><summary>1</summary>
<pre>thread 101, evaluation 7: 1 of 2 operations done, now exp of lazy (#3, float32 (4, 6, 10), lazy), waiting for evaluation 6
  #0  0x000000065000 in f0
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of bool (#5, bool (16,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
  #1  0x000000065001 in f1
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of bool (#5, bool (16,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
  #2  0x000000065002 in f2
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] = uint64 (#9, uint64 (8,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of bool (#5, bool (16,), ready)</span>
       <span class="held">x-&#62;y[0] points to the elements of x (#1, float32 (4, 6, 10), ready)</span>
  (damaged)
</pre>
</details>
<h2>In flight</h2>
<ul>
<li>thread 101, evaluation 7: 1 of 2 operations done, now exp of lazy (#3, float32 (4, 6, 10), lazy), waiting for evaluation 6</li>
</ul>
<h2>NaN and Inf</h2>
<ul>
<li>none</li></ul>
<h2>Tensors</h2>
<div class="cards">
<div class="card"><b>x (#1, float32 (4, 6, 10), ready)</b><br/><span class="dim">data in 0x0</span><br/>
<img alt="picture" width="80" height="48" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAFAAAAAwCAYAAACG5f33AAAAAXNSR0IArs4c6QAAALJJREFUaIHt2bENwyAUQEFjubKXymgZLaNlA1K8wkS+az+ieKJAMLbX+7NNjDHGf8/3fTbf97b/dHN+EzASMBIwEjASMBIwOq7rumYL7r/HrT13AiMBIwEjASMBIwEjAaPjPM9ztuDu97bV505gJGAkYCRgJGAkYCRg9ID3QP/CSxMwEjASMBIwEjASMHrAPdB74NIEjASMBIwEjASMBIz8C7sH3kvASMBIwEjASMBIwOgLTnsDpk6B4GwAAAAASUVORK5CYII="/><svg xmlns="http://www.w3.org/2000/svg" width="192" height="62" role="img" aria-label="histogram"><rect x="0" y="0" width="5" height="48" fill="#3b528b"/><rect x="6" y="6" width="5" height="42" fill="#3b528b"/><rect x="12" y="0" width="5" height="48" fill="#3b528b"/><rect x="18" y="6" width="5" height="42" fill="#3b528b"/><rect x="24" y="0" width="5" height="48" fill="#3b528b"/><rect x="30" y="6" width="5" height="42" fill="#3b528b"/><rect x="36" y="0" width="5" height="48" fill="#3b528b"/><rect x="42" y="6" width="5" height="42" fill="#3b528b"/><rect x="48" y="0" width="5" height="48" fill="#3b528b"/><rect x="54" y="6" width="5" height="42" fill="#3b528b"/><rect x="60" y="0" width="5" height="48" fill="#3b528b"/><rect x="66" y="6" width="5" height="42" fill="#3b528b"/><rect x="72" y="0" width="5" height="48" fill="#3b528b"/><rect x="78" y="6" width="5" height="42" fill="#3b528b"/><rect x="84" y="0" width="5" height="48" fill="#3b528b"/><rect x="90" y="6" width="5" height="42" fill="#3b528b"/><rect x="96" y="6" width="5" height="42" fill="#3b528b"/><rect x="102" y="0" width="5" height="48" fill="#3b528b"/><rect x="108" y="6" width="5" height="42" fill="#3b528b"/><rect x="114" y="0" width="5" height="48" fill="#3b528b"/><rect x="120" y="6" width="5" height="42" fill="#3b528b"/><rect x="126" y="0" width="5" height="48" fill="#3b528b"/><rect x="132" y="6" width="5" height="42" fill="#3b528b"/><rect x="138" y="0" width="5" height="48" fill="#3b528b"/><rect x="144" y="6" width="5" height="42" fill="#3b528b"/><rect x="150" y="0" width="5" height="48" fill="#3b528b"/><rect x="156" y="6" width="5" height="42" fill="#3b528b"/><rect x="162" y="0" width="5" height="48" fill="#3b528b"/><rect x="168" y="6" width="5" height="42" fill="#3b528b"/><rect x="174" y="0" width="5" height="48" fill="#3b528b"/><rect x="180" y="6" width="5" height="42" fill="#3b528b"/><rect x="186" y="0" width="5" height="48" fill="#3b528b"/><text x="0" y="60">0</text><text x="192" y="60" text-anchor="end">59.75</text></svg>
<div class="dim">mean 29.875, std 17.32, NaN 0, Inf 0</div>
</div>
<div class="card"><b>uint64 (#9, uint64 (8,), ready)</b><br/><span class="dim">data in 0x0</span><br/>
<img alt="heat map" width="64" height="8" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAAAICAYAAABJYvnfAAAAAXNSR0IArs4c6QAAAC1JREFUSIljlJ/Q/Z9hBAOmgXbAQIPRABhoBww0GA2AgXbAQIPRABhoBww0AAAcQgJJraxVLwAAAABJRU5ErkJggg=="/><div class="dim">from 0 to 0</div><svg xmlns="http://www.w3.org/2000/svg" width="192" height="62" role="img" aria-label="histogram"><rect x="0" y="0" width="5" height="48" fill="#3b528b"/><rect x="6" y="48" width="5" height="0" fill="#3b528b"/><rect x="12" y="48" width="5" height="0" fill="#3b528b"/><rect x="18" y="48" width="5" height="0" fill="#3b528b"/><rect x="24" y="48" width="5" height="0" fill="#3b528b"/><rect x="30" y="48" width="5" height="0" fill="#3b528b"/><rect x="36" y="48" width="5" height="0" fill="#3b528b"/><rect x="42" y="48" width="5" height="0" fill="#3b528b"/><rect x="48" y="48" width="5" height="0" fill="#3b528b"/><rect x="54" y="48" width="5" height="0" fill="#3b528b"/><rect x="60" y="48" width="5" height="0" fill="#3b528b"/><rect x="66" y="48" width="5" height="0" fill="#3b528b"/><rect x="72" y="48" width="5" height="0" fill="#3b528b"/><rect x="78" y="48" width="5" height="0" fill="#3b528b"/><rect x="84" y="48" width="5" height="0" fill="#3b528b"/><rect x="90" y="48" width="5" height="0" fill="#3b528b"/><rect x="96" y="48" width="5" height="0" fill="#3b528b"/><rect x="102" y="48" width="5" height="0" fill="#3b528b"/><rect x="108" y="48" width="5" height="0" fill="#3b528b"/><rect x="114" y="48" width="5" height="0" fill="#3b528b"/><rect x="120" y="48" width="5" height="0" fill="#3b528b"/><rect x="126" y="48" width="5" height="0" fill="#3b528b"/><rect x="132" y="48" width="5" height="0" fill="#3b528b"/><rect x="138" y="48" width="5" height="0" fill="#3b528b"/><rect x="144" y="48" width="5" height="0" fill="#3b528b"/><rect x="150" y="48" width="5" height="0" fill="#3b528b"/><rect x="156" y="48" width="5" height="0" fill="#3b528b"/><rect x="162" y="48" width="5" height="0" fill="#3b528b"/><rect x="168" y="48" width="5" height="0" fill="#3b528b"/><rect x="174" y="48" width="5" height="0" fill="#3b528b"/><rect x="180" y="48" width="5" height="0" fill="#3b528b"/><rect x="186" y="48" width="5" height="0" fill="#3b528b"/><text x="0" y="60">0</text><text x="192" y="60" text-anchor="end">0</text></svg>
<div class="dim">mean 0, std 0, NaN 0, Inf 0</div>
</div>
<div class="card"><b>bool (#5, bool (16,), ready)</b><br/><span class="dim">data in 0x0</span><br/>
<img alt="heat map" width="128" height="8" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAIAAAAAICAYAAAAx3fd+AAAAAXNSR0IArs4c6QAAADRJREFUWIXt0jEBAEAIgMD3ixjYxcYawwEuAQORXfOE9a8DdMsB4BwAzgHgHADOAeAcAG4BLVACSdZ/TRwAAAAASUVORK5CYII="/><div class="dim">from 0 to 0</div><svg xmlns="http://www.w3.org/2000/svg" width="192" height="62" role="img" aria-label="histogram"><rect x="0" y="0" width="5" height="48" fill="#3b528b"/><rect x="6" y="48" width="5" height="0" fill="#3b528b"/><rect x="12" y="48" width="5" height="0" fill="#3b528b"/><rect x="18" y="48" width="5" height="0" fill="#3b528b"/><rect x="24" y="48" width="5" height="0" fill="#3b528b"/><rect x="30" y="48" width="5" height="0" fill="#3b528b"/><rect x="36" y="48" width="5" height="0" fill="#3b528b"/><rect x="42" y="48" width="5" height="0" fill="#3b528b"/><rect x="48" y="48" width="5" height="0" fill="#3b528b"/><rect x="54" y="48" width="5" height="0" fill="#3b528b"/><rect x="60" y="48" width="5" height="0" fill="#3b528b"/><rect x="66" y="48" width="5" height="0" fill="#3b528b"/><rect x="72" y="48" width="5" height="0" fill="#3b528b"/><rect x="78" y="48" width="5" height="0" fill="#3b528b"/><rect x="84" y="48" width="5" height="0" fill="#3b528b"/><rect x="90" y="48" width="5" height="0" fill="#3b528b"/><rect x="96" y="48" width="5" height="0" fill="#3b528b"/><rect x="102" y="48" width="5" height="0" fill="#3b528b"/><rect x="108" y="48" width="5" height="0" fill="#3b528b"/><rect x="114" y="48" width="5" height="0" fill="#3b528b"/><rect x="120" y="48" width="5" height="0" fill="#3b528b"/><rect x="126" y="48" width="5" height="0" fill="#3b528b"/><rect x="132" y="48" width="5" height="0" fill="#3b528b"/><rect x="138" y="48" width="5" height="0" fill="#3b528b"/><rect x="144" y="48" width="5" height="0" fill="#3b528b"/><rect x="150" y="48" width="5" height="0" fill="#3b528b"/><rect x="156" y="48" width="5" height="0" fill="#3b528b"/><rect x="162" y="48" width="5" height="0" fill="#3b528b"/><rect x="168" y="48" width="5" height="0" fill="#3b528b"/><rect x="174" y="48" width="5" height="0" fill="#3b528b"/><rect x="180" y="48" width="5" height="0" fill="#3b528b"/><rect x="186" y="48" width="5" height="0" fill="#3b528b"/><text x="0" y="60">0</text><text x="192" y="60" text-anchor="end">0</text></svg>
<div class="dim">mean 0, std 0, NaN 0, Inf 0</div>
</div>
</div>
<h2>Memory</h2>
<p>109 B in use, peak 110 B; 16 tensors ready, 2 lazy</p>
<table>
</table>
<h2>Last events</h2>
<pre>   -0.005000 s     4711  op_done       #2 transpose
   -0.004000 s     4711  error         by 0x401234: no luck
   -0.003000 s     4711  eval_start    eval 7 by 0x401234 roots 1
   -0.002500 s     4711  compile       compiled 0 name 1704062 reason 1704068 in 400.0 us
   -0.002000 s     4711  nan           #3 by 0x401234 count 2 first 0
   -0.001000 s     4711  eval_done     eval 7 by 0x401234 ops 2
   -0.000000 s     4711  eval_start    eval 8 by 0x401238 roots 1
7 of 7 events, the ring holds the last 8; times count back from the newest
</pre>
</body>
</html>
